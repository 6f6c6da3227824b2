import { behaviourOf } from '../../model/format.ts';
import { once } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { orElse, unlessMissing } from '../../base/expected.ts';
import type { Table } from '../../base/parse/parse.ts';
import { contentPath } from '../../base/files/paths.ts';
import type { Seen } from '../../base/files/places.ts';
import { maskSecretValues } from '../../base/secrets/scanner.ts';
import type { SayStep } from '../../base/step.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { fileFaults, type FileFault } from '../../catalogue/file-faults.ts';
import type { Origin } from '../../model/origin.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import {
  composeActivation,
  composeUnwritten,
  withFaults,
  withFiles,
  type Activation,
  type Material,
} from './activation.ts';
import { kitProgramNotes } from './kit-programs.ts';
import { NO_KIT_SETTINGS, readKitSettings, type KitSettings } from '../../kit/settings.ts';
import type { CustomizedAgent } from './agent-customization.ts';
import { centralConfig, type Central } from './central-config.ts';
import { createDescriptions, standingFor } from './description.ts';
import { currentConfig, generatedFiles, moduleValues } from './generated-files.ts';
import { createInspection, namesIn } from './inspection.ts';
import { manifestFiles } from './manifest-files.ts';
import { masterRecords } from './master-record.ts';
import { resolveSkill, type SkillResolver } from './resolve-skill.ts';
import { RENDERED, skillFolder } from './skill-folder.ts';
import { plainSettings, usedValues } from './used-values.ts';
import { createSkillShelf } from './skill-shelf.ts';
import { workflowContext } from './workflow-context.ts';
import { besides, noSuchFile, noSuchRendered } from './missing-file.ts';
import { textsBeside } from './further-files.ts';
import { mimeTypeOf, serve, type ServedFile } from './served-file.ts';

/** What can be handed out of a catalogue, for one project. */
export type Delivery = ReturnType<typeof createDelivery>;

interface DeliveryParts {
  catalogue: Catalogue;
  projectRoot: string | undefined;
  /** The project's `_bmad` folder, when it has one: the place of its overrides. */
  projectBmad(): Promise<Tree | undefined>;
  today(): string;
  /** Hears of every place that something is read from. As long as those are as they were, nothing is read twice. */
  seen?: Seen;
  /** The settings with what the user has said for all projects. */
  withUser?(kit: KitSettings): KitSettings | Promise<KitSettings>;
}

export function createDelivery({ catalogue, projectRoot, today, seen, ...parts }: DeliveryParts) {
  const kept = <T>(make: () => Promise<T>): (() => Promise<T>) => (seen === undefined ? make : once(make));
  const projectBmad = kept(() => parts.projectBmad());
  const kitSettings = kept(async () => {
    const kit = projectRoot === undefined ? NO_KIT_SETTINGS : await readKitSettings(projectRoot, seen);
    return parts.withUser?.(kit) ?? kit;
  });

  async function readCentral(bmad: Tree | undefined, kit: KitSettings): Promise<Central> {
    const layered = await centralConfig(catalogue.modules, projectRoot, bmad, kit);
    return { ...layered, values: maskSecretValues(layered.values) as Table };
  }

  // Without files of its own in the project there is nothing that could change; some may appear at any time.
  const defaults = once(() => readCentral(undefined, NO_KIT_SETTINGS));
  const centralOf = (bmad: Tree | undefined, kit: KitSettings): Promise<Central> =>
    bmad === undefined && isSilent(kit) ? defaults() : readCentral(bmad, kit);
  const central = kept(async () => centralOf(await projectBmad(), await kitSettings()));
  const resolver: SkillResolver = {
    ...(seen === undefined ? {} : { kept: new Map() }),
    files: catalogue.files,
    projectRoot,
    projectBmad,
    central: async () => (await central()).values,
    centralLayers: central,
  };
  // Only projects with agents of the compiled generations need it.
  const customizations = once(async () =>
    (await import('./agent-customization.ts')).createCustomizations(catalogue),
  );
  const customize = async (record: BmadRecord, text: string): Promise<CustomizedAgent> =>
    behaviourOf(record).isCompiled
      ? (await customizations()).apply(record, text)
      : { text, notes: [], extra: [], problems: [] };
  const generated = new Map([
    ...generatedFiles(catalogue.modules, resolver.central),
    ...manifestFiles(catalogue),
    currentConfig(projectRoot, central, catalogue.files),
  ]);

  /** A file by its content path: that of the origin with the highest rank, or first of all that of `from`. */
  async function file(path: string, from?: Origin): Promise<ServedFile> {
    if (path.startsWith(RENDERED)) return renderedFile(path);
    const files = from === undefined ? catalogue.files : catalogue.files.preferring(from);
    const own = generated.get(path);
    if (own !== undefined && !(await files.all()).has(path)) {
      return { path, mimeType: own.mimeType, text: await own.make() };
    }
    const found = await files.read(path).catch(async (error: unknown) => {
      if (error instanceof BmadError && error.code !== 'not_found' && error.suggestions.length === 0)
        throw error.with({ suggestions: besides(path, await knownPaths()), cause: error });
      return unlessMissing(error);
    });
    if (found !== undefined) return serve(path, found.bytes, found.origin);
    throw noSuchFile(path, await knownPaths(), await builtInPaths());
  }

  const knownPaths = async (): Promise<string[]> => (await paths()).map((each) => each.path);

  const builtInPaths = async (): Promise<ReadonlySet<string>> =>
    new Set(
      [...(await catalogue.files.all())].flatMap(([path, { kind }]) => (kind === 'package' ? [path] : [])),
    );

  async function renderedFile(path: string): Promise<ServedFile> {
    const [name = '', ...rest] = path.slice(RENDERED.length).split('/');
    const record = catalogue.callable.find((candidate) => candidate.name === name);
    const rendered = record === undefined ? undefined : (await resolveSkill(record, resolver)).rendered;
    const text = rendered?.get(rest.join('/'));
    if (text !== undefined) return { path, mimeType: mimeTypeOf(path), text };
    throw noSuchRendered(name, rest.join('/'), rendered);
  }

  /** All paths that can be read, generated ones included, sorted. */
  const paths = once(async () => {
    const all = [...(await catalogue.files.all())].map(([path, origin]): ServedPath => ({
      path,
      mimeType: mimeTypeOf(path),
      origin: origin.displayName,
    }));
    const known = new Set(all.map(({ path }) => path));
    for (const [path, { mimeType, about }] of generated)
      if (!known.has(path)) all.push({ path, mimeType, origin: 'generated', about });
    return all.sort((a, b) => (a.path < b.path ? -1 : 1));
  });

  /**
   * Everything a model needs to become an agent or start a workflow, as one document. `along` are addresses of files that
   * come with it, and `given` are values that its reader has already.
   */
  async function activation(
    record: BmadRecord,
    message: string | undefined,
    project: string | undefined,
    say: SayStep,
    { along = [], given = [] }: { along?: readonly string[]; given?: Material['values'] } = {},
  ): Promise<Activation> {
    const { target, material } = await materialFor(record, project);
    if (along.length + given.length === 0) return composeActivation(target, message, material, say);
    const texts = await Promise.all(
      along.map(async (uri) => ({ uri, text: (await file(contentPath(uri), target.origin)).text ?? '' })),
    );
    return composeActivation(target, message, withFiles(material, texts, given), say);
  }

  async function materialFor(
    record: BmadRecord,
    project: string | undefined,
  ): Promise<{ target: BmadRecord; material: Material }> {
    const target = standingFor(record, catalogue);
    // Looked for once, so that all of one answer is about the same state of the project.
    const bmad = await projectBmad();
    const kit = await kitSettings();
    const fixed =
      project === undefined &&
      (seen !== undefined || (bmad === undefined && isSilent(kit) && target.origin.kind === 'package'));
    const known = fixed ? materials.get(record) : undefined;
    if (known?.day === today()) return { target, material: known.material };
    const material = await materialOf(record, target, { bmad, kit }, project, today());
    if (fixed) materials.set(record, { day: today(), material });
    return { target, material };
  }

  /** The same files give the same material all day, and so does built-in content in a project that overrides nothing. */
  const materials = new Map<BmadRecord, { day: string; material: Material }>();

  async function materialOf(
    record: BmadRecord,
    target: BmadRecord,
    { bmad, kit }: { bmad: Tree | undefined; kit: KitSettings },
    project: string | undefined,
    day: string,
  ): Promise<Material> {
    const settled: SkillResolver = { ...resolver, projectBmad: async () => bmad };
    const config = seen === undefined ? await centralOf(bmad, kit) : await central();
    const customized = await customize(target, await ownText(target));
    const own = catalogue.files.preferring(target.origin);
    const files = await own.below(skillFolder(target));
    const common = {
      record: target,
      main: customized.text,
      projectRoot,
      project,
      today: day,
      values: moduleConfig(target, config.values),
      files,
      beside: await textsBeside(target, customized.text, files, own),
    };
    const context = workflowContext(target, catalogue, projectRoot, common.values);
    const settings = plainSettings(common.values, projectRoot);
    const known = await own.all();
    const has = (path: string): boolean => known.has(path) || generated.has(path);
    if (!behaviourOf(target).isSkill) {
      const { installMaterial } = await import('./materials.ts');
      const material = await installMaterial({
        ...common,
        customized,
        has,
        below: (folder) => [...known.keys()].filter((path) => path.startsWith(`${folder}/`)),
        read: async (path) => (await file(path, target.origin).catch(orElse(undefined)))?.text,
      });
      const problems = [...config.problems, ...material.problems];
      const whole = { ...material, problems, data: context, settings, beside: common.beside };
      return withFaults(whole, await faultsOf(target));
    }
    const { skillMaterial } = await import('./materials.ts');
    const material = skillMaterial({
      ...common,
      has,
      skill: await resolveSkill(target, settled),
      forwardedBy:
        target === record
          ? undefined
          : { record, text: await mainText(record), skill: await resolveSkill(record, settled) },
      central: config.values,
      problems: config.problems,
      scripts: await catalogue.files.below('scripts'),
      installed: await namesIn(bmad, ''),
      installedScripts: await namesIn(bmad, 'scripts'),
    });
    const whole = { ...material, data: context, settings, beside: common.beside };
    return withFaults(whole, await faultsOf(target));
  }

  /** From 6.4 on the central configuration holds all values; before that, each module's own file. */
  function moduleConfig(record: Pick<BmadRecord, 'moduleName'>, values: Table): Table {
    const module = catalogue.modules.find(({ code }) => code === record.moduleName);
    const installed = Object.fromEntries(
      (module?.settings ?? [])
        .filter(({ result }) => result === '{value}')
        .map(({ key, default: value }) => [key, value]),
    );
    return { ...installed, ...moduleValues(values, record.moduleName) };
  }

  async function ownText(record: BmadRecord): Promise<string> {
    return (await file(record.bmadRelativePath, record.origin)).text ?? '';
  }

  /** The main file as it is in force: with the customization in it, where its kind has that compiled in. */
  async function faultsOf(record: BmadRecord): Promise<FileFault[]> {
    if (record.origin.kind === 'package') return [];
    const files = catalogue.files.preferring(record.origin);
    return fileFaults(record, (await files.read(record.bmadRelativePath)).bytes);
  }

  async function mainText(record: BmadRecord): Promise<string> {
    return (await customize(record, await ownText(record))).text;
  }

  const skills = createSkillShelf({
    catalogue,
    async startText(record, say) {
      // A date would make another file of it every day.
      const state = { bmad: await projectBmad(), kit: await kitSettings() };
      const material = await materialOf(record, record, state, undefined, 'the current date');
      const { head, body } = composeActivation(record, undefined, material, say);
      return `${head}\n\n${body}`;
    },
  });

  return {
    ...createInspection(catalogue, resolver, async () => (await customizations()).check()),
    ...createDescriptions(catalogue, resolver, mainText, async (record) =>
      plainSettings(moduleConfig(record, await resolver.central()), projectRoot),
    ),
    file,
    paths,
    /** What does the work of programs that a text of the custom kit runs. */
    instead: kitProgramNotes,
    masterRecords: (records: readonly BmadRecord[]) => masterRecords(records, catalogue),
    activation,
    /** The same of an agent that has no file: the persona that others give it takes the place of one. */
    async unwritten(agent: Parameters<typeof composeUnwritten>[0], message: string | undefined) {
      const values = moduleConfig({ moduleName: 'core' }, await resolver.central());
      const used = usedValues({ values, projectRoot, today: today() }, [SPOKEN_TO]);
      return composeUnwritten(agent, message, used);
    },
    skills,
    mimeTypeOf,
  };
}

/** Whom any agent speaks to, and how, in the words of BMAD's texts. */
const SPOKEN_TO = '{user_name} {communication_language}';

/** A path that can be read; one that the server writes itself says what is in it. */
interface ServedPath {
  path: string;
  mimeType: string;
  origin: string;
  about?: string;
}

/** Whether the kit's files say nothing, or are not there. */
function isSilent({ memory, context, problems }: KitSettings): boolean {
  return memory === undefined && context === undefined && problems.length === 0;
}
