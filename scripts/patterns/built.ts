import { TOLD } from '../../src/base/secrets/scanner.ts';
import { SHAPES } from '../../src/base/secrets/values.ts';

/**
 * Expressions that are put together while the program runs, by file: one example for each, with what callers pass. An
 * expression that is only another one with other flags has none.
 */
export const BUILT: Readonly<Record<string, readonly RegExp[]>> = {
  'src/base/parse/toml-list.ts': [/^[ \t]*(?:sources|"sources"|'sources')[ \t]*=[ \t]*/gm],
  'src/config/flags.ts': [/^(?:git\+|[\w.-]+@[\w.-]+:(?!\/\/))/],
  'src/services/delivery/agent.ts': [/<persona[\s>]/, /<step(?:\s[^>]*)?(>?)/g],
  'src/services/delivery/workflow.ts': [/^\{project-root\}\/(?:_bmad|\.bmad|bmad|custom\.folder)\//],
  'src/kit/settings.ts': [/^\s*["']?user_name["']?\s*:/],
  'src/kit/agents.ts': [/\bAGENT_TAG=([\w.-]{1,100})/],
  'src/readers/v4/yaml-text.ts': [/^[ \t]*(?:- )?name:[ \t]*(\S.*)$/m],
  'src/readers/compiled/tasks-and-material.ts': [/^[^/]+\/tasks\/[^/]+\.(?:xml|md)$/i],
  'src/base/secrets/rules.ts': [],
  'src/base/text/hidden.ts': [
    /[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cc}]/gu,
    new RegExp('\\p{RGI_Emoji}', 'gv'),
  ],
  'src/base/secrets/scanner.ts': [TOLD],
  'src/base/secrets/values.ts': SHAPES.map(({ pattern }) => pattern),
};
