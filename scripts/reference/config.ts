import { flagUsage } from '../../src/config/flags.ts';
import { PROJECT_CONFIG_FILE, userConfigFile } from '../../src/config/locations.ts';
import { settings } from '../../src/config/schema.ts';
import { code, propertyOf, shape, table } from './markdown.ts';

export function configPage(): string[] {
  return [
    '# Settings',
    '',
    'Layers, the stronger first: flag, environment variable, project file, user file, default.',
    '',
    `- Project file: \`${PROJECT_CONFIG_FILE}\` in the project folder`,
    `- User file: \`${userFile('linux')}\`, or the same under \`$XDG_CONFIG_HOME\` where that is set`,
    `- User file on Windows: \`${userFile('win32')}\``,
    '',
    ...table(
      ['key in a file', 'flag', 'environment', 'type', 'default', 'meaning'],
      settings().map((setting) => [
        code(setting.fileKey),
        code(flagUsage(setting)),
        code(setting.env),
        shape(propertyOf(setting.schema)),
        setting.default === undefined ? 'none' : code(setting.default),
        setting.description,
      ]),
    ),
  ];
}

function userFile(platform: NodeJS.Platform): string {
  // Only an absolute path counts.
  const place = userConfigFile({ env: { APPDATA: '/%APPDATA%' }, home: '~', platform });
  return place.replaceAll('\\', '/').replace(/^\/(?=%)/, '');
}
