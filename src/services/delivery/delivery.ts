import type { Seen } from '../../base/files/keeper.ts';
import { behaviourOf, type BmadRecord, type Origin } from '../../model/record.ts';
import { once, onceEach } from '../../base/async.ts';
import { BmadError, orElse, unlessMissing } from '../../base/errors.ts';
import type { Table } from '../../base/parse/parse.ts';
import { contentPath } from '../../base/files/paths.ts';
import { maskSecretValues } from '../../base/secrets/scanner.ts';
import type { SayStep } from '../../base/step.ts';
import { present } from '../../base/values.ts';
import { forAll } from '../../base/text/message.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { type FileFault, fileFaults } from '../../catalogue/content-files.ts';
import type { Tree } from '../../sources/tree.ts';
import {
  type Activation,
  composeActivation,
  composeUnwritten,
  kitProgramNotes,
  type Material,
  unchanging,
  withFaults,
  withFiles,
} from './activation.ts';
import { type KitSettings, NO_KIT_SETTINGS, readKitSettings } from '../../kit/configuration.ts';
import type { CustomizedAgent } from './customize.ts';
import { type Central, centralConfig } from './layers.ts';
import { createDescriptions, standingFor } from './description.ts';
import {
  currentConfig,
  generatedFiles,
  manifestFiles,
  masterRecords,
  mimeTypeOf,
  moduleValues,
  serve,
  type ServedFile,
} from './files.ts';
import { createInspection, namesIn } from './inspection.ts';
import {
  plainSettings,
  RENDERED,
  resolveSkill,
  skillFolder,
  type ProjectSkills,
  usedValues,
} from './resolve-skill.ts';
import { createSkillShelf } from './skill-shelf.ts';
import { textsBeside, workflowContext } from './workflow.ts';
import { besides, noSuchFile, noSuchRendered } from './missing-file.ts';

/** What can be handed out of a catalogue, for one project. */
export type Delivery = ReturnType<typeof createDelivery>;

interface DeliveryParts {
  catalogue: Catalogue;
  projectRoot: string | undefined;
  /** The project's `_bmad` folder, when it has one: the place of its overrides. */
  projectBmad(): Promise<Tree | undefined>;
  today(): string;
  /** Hears of every place that something is read from: when one of them changes, another delivery has to be made. */
  seen?: Seen;
  /** The settings with what the user has said for all projects. */
  withUser?(kit: KitSettings): KitSettings | Promise<KitSettings>;
}

export function createDelivery({ catalogue, projectRoot, today, seen, ...parts }: DeliveryParts) {
  const projectBmad = once(() => parts.projectBmad());
  const kitSettings = once(async () => {
    const kit = projectRoot === undefined ? NO_KIT_SETTINGS : await readKitSettings(projectRoot, seen);
    return parts.withUser?.(kit) ?? kit;
  });
  // What is kept here is for all callers, whatever language the first of them reads.
  const centralLayers = once(() => forAll(readCentral));
  async function readCentral(): Promise<Central> {
    const layered = await centralConfig(
      catalogue.modules,
      projectRoot,
      await projectBmad(),
      await kitSettings(),
    );
    return { ...layered, values: maskSecretValues(layered.values) as Table };
  }
  const ofUser = catalogue.sources.filter(({ origin }) => origin.kind === 'user').map(({ tree }) => tree);
  const central = async (): Promise<Table> => (await centralLayers()).values;
  const resolved = onceEach((record: BmadRecord) =>
    forAll(() => resolveSkill(record, { files: catalogue.files, projectRoot, ofUser, projectBmad, central })),
  );
  const skillsHere: ProjectSkills = { projectBmad, resolved, centralLayers };
  // Only projects with agents of the compiled generations need it.
  const customizations = once(async () => (await import('./customize.ts')).createCustomizations(catalogue));
  const customize = async (record: BmadRecord, text: string): Promise<CustomizedAgent> =>
    behaviourOf(record).isCompiled
      ? (await customizations()).apply(record, text)
      : { text, notes: [], extra: [], problems: [] };
  const generated = new Map([
    ...generatedFiles(catalogue.modules, central),
    ...manifestFiles(catalogue),
    currentConfig(projectRoot, centralLayers, catalogue.files),
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
      if (error instanceof BmadError && error.reason === 'folder')
        throw error.with({ suggestions: besides(path, [...(await paths()).keys()]), cause: error });
      return unlessMissing(error);
    });
    if (found !== undefined) return serve(path, found.bytes, found.origin);
    throw noSuchFile(path, [...(await paths()).keys()], await catalogue.files.all());
  }

  async function renderedFile(path: string): Promise<ServedFile> {
    const [name = '', ...rest] = path.slice(RENDERED.length).split('/');
    const record = catalogue.callable.find((candidate) => candidate.name === name);
    const rendered = record === undefined ? undefined : (await resolved(record)).rendered;
    const text = rendered?.get(rest.join('/'));
    if (text !== undefined) return { path, mimeType: mimeTypeOf(path), text };
    throw noSuchRendered(name, rest.join('/'), rendered);
  }

  /** All that can be read, what is generated included, by its path and in that order. */
  const paths = once(async (): Promise<ReadonlyMap<string, ServedPath>> => {
    const known = await catalogue.files.all();
    const all = [...known].map(([path, origin]): ServedPath => ({
      path,
      mimeType: mimeTypeOf(path),
      origin: origin.displayName,
    }));
    for (const [path, { title, mimeType, about }] of generated)
      if (!known.has(path)) all.push({ path, mimeType, origin: 'generated', about, ...present({ title }) });
    return new Map(all.sort((a, b) => (a.path < b.path ? -1 : 1)).map((each) => [each.path, each]));
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
    const { target, material, composed } = await materialFor(record, project);
    if (along.length + given.length === 0) return composeActivation(target, message, material, say, composed);
    const texts = await Promise.all(
      along.map(async (uri) => ({ uri, text: (await file(contentPath(uri), target.origin)).text ?? '' })),
    );
    return composeActivation(target, message, withFiles(material, texts, given), say);
  }

  async function materialFor(
    record: BmadRecord,
    project: string | undefined,
  ): Promise<{ target: BmadRecord; material: Material; composed: ReturnType<typeof unchanging> }> {
    const target = standingFor(record, catalogue);
    const day = today();
    const known = project === undefined ? materials.get(record) : undefined;
    if (known?.day === day) return { target, ...known };
    const material = await forAll(() => materialOf(record, target, project, day));
    const made = { day, material, composed: unchanging(target, material) };
    if (project === undefined) materials.set(record, made);
    return { target, ...made };
  }

  /** The same files give the same material all day. */
  const materials = new Map<
    BmadRecord,
    { day: string; material: Material; composed: ReturnType<typeof unchanging> }
  >();

  async function materialOf(
    record: BmadRecord,
    target: BmadRecord,
    project: string | undefined,
    day: string,
  ): Promise<Material> {
    const config = await centralLayers();
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
    // What is told beside a text is loaded when something is started, not with the lists.
    const { skillMaterial } = await import('./skill-material.ts');
    const { installMaterial } = await import('./install-material.ts');
    const material = behaviourOf(target).isSkill
      ? skillMaterial({
          ...common,
          has,
          skill: await resolved(target),
          forwardedBy:
            target === record
              ? undefined
              : { record, text: await mainText(record), skill: await resolved(record) },
          central: config.values,
          scripts: await catalogue.files.below('scripts'),
          installed: await namesIn(await projectBmad(), ''),
          installedScripts: await namesIn(await projectBmad(), 'scripts'),
        })
      : await installMaterial({
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

  async function faultsOf(record: BmadRecord): Promise<FileFault[]> {
    if (record.origin.kind === 'package') return [];
    const files = catalogue.files.preferring(record.origin);
    return fileFaults(record, (await files.read(record.bmadRelativePath)).bytes);
  }

  /** The main file as it is in force: with the customization in it, where its kind has that compiled in. */
  async function mainText(record: BmadRecord): Promise<string> {
    return (await customize(record, await ownText(record))).text;
  }

  const skills = createSkillShelf(catalogue, async (record, say) => {
    // A date would make another file of it every day.
    const material = await materialOf(record, record, undefined, 'the current date');
    const { head, body } = composeActivation(record, undefined, material, say);
    return `${head}\n\n${body}`;
  });

  return {
    ...createInspection(catalogue, skillsHere, customizations),
    ...createDescriptions(
      catalogue,
      skillsHere,
      mainText,
      async (record) => plainSettings(moduleConfig(record, await central()), projectRoot),
      file,
    ),
    file,
    paths,
    /** What does the work of programs that a text of the custom kit runs. */
    instead: kitProgramNotes,
    masterRecords: (records: readonly BmadRecord[]) => masterRecords(records, catalogue),
    activation,
    /** The same of an agent that has no file: the persona that others give it takes the place of one. */
    async unwritten(agent: Parameters<typeof composeUnwritten>[0], message: string | undefined) {
      const values = moduleConfig({ moduleName: 'core' }, await central());
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
  title?: string;
  about?: string;
}
