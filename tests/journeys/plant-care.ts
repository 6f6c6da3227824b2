// What a model writes in the course of a small project.

export const BRIEF = `---
title: Plant care
status: final
created: 2026-11-16
---

# Product Brief: Plant care

People who own plants forget to water them. A small command-line program keeps a list of plants with the days between two
waterings, and says each morning which ones are due. It is for one person, on one machine, without an account.
`;

export const PRD = `---
title: Plant care
status: final
created: 2026-11-16
---

# PRD: Plant care

## Functional requirements

- FR-1: Add a plant with a name and the number of days between two waterings.
- FR-2: List the plants that are due today.
- FR-3: Mark a plant as watered.
- FR-4: Remove a plant.

## Non-functional requirements

- NFR-1: A crash while it writes never loses the list.
`;

export const ARCHITECTURE = `---
title: Plant care
status: final
---

# Architecture: Plant care

## Decisions

- AD-1: One JSON file holds all plants; it is written beside itself and renamed.
- AD-2: TypeScript on Node, no dependencies.
`;

export const EPICS = `---
stepsCompleted: [1, 2, 3, 4]
---

# Plant care - Epic Breakdown

## Epic 1: Plants that are due

### Story 1.1: Add a plant

As an owner, I want to add a plant with the number of days between two waterings, so that it is remembered.

**Acceptance criteria**

- Given no file, when a plant is added, then the file has this plant only.
- Given a file with plants, when the program is killed while it writes, then the file still has them all.

### Story 1.2: List what is due

As an owner, I want to see what is due today, so that nothing dries out.

**Acceptance criteria**

- Given a plant whose days have passed, when the list is asked for, then it is in it, with the days it is late.
`;

export const ledger = (
  first: string,
  second: string,
  epic = 'in-progress',
  retrospective = 'optional',
): string =>
  `generated: 2026-11-16
project: plant-care
development_status:
  epic-1: ${epic}
  1-1-add-a-plant: ${first}
  1-2-list-what-is-due: ${second}
  epic-1-retrospective: ${retrospective}
`;

export const spec = (title: string, status: string): string =>
  `---
title: ${title}
type: feature
status: ${status}
---

# ${title}

## Intent

Plants are kept in one file; the program adds one and never loses the others.

## Tasks & Acceptance

- [x] src/store.ts writes beside the file and renames it
`;
