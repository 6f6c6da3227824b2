import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** One schema of the SDK, with all that is made for it. */
const SCHEMA = /^const (\w+) = ((?:z\.|\w+Schema\b)[^]*?);\n(?=\n|\/[*/]|const |function |class |export )/gm;
/** Puts all of them on a list for programs that want to check messages themselves, which ours do not. */
const LISTED =
  /^for \(const (?:key of SPEC_SCHEMA_KEYS|\[key, schema\] of Object\.entries\(authSchemas\))\).*$/gm;

/**
 * The SDK makes each schema of the protocol when it is loaded, but checks messages with others, made when they are needed.
 * Marked as free of effects, those that nothing uses are left out.
 */
export const leanSchemas: Plugin = {
  name: 'lean-schemas',
  setup(esbuild) {
    const filter = /@modelcontextprotocol[\\/](?:core|server)[\\/]dist[\\/](?:auth|schemas|src)-[\w-]+\.mjs$/;
    esbuild.onLoad({ filter }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const marked = text.replace(LISTED, '').replace(SCHEMA, 'const $1 = /* @__PURE__ */ (() => $2)();\n');
      if (marked === text) throw new Error(`${path} has no schemas that can be left out.`);
      return { contents: marked, loader: 'js' };
    });
  },
};
