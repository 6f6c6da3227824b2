import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';

export const cacheSchema = z.object({
  parts: z.array(
    z.object({
      part: z.string(),
      folder: z.string(),
      files: z.int(),
      bytes: z.int(),
      newest: z.string().optional(),
      oldest: z.string().optional(),
      damaged: z.int().describe('Made again when needed'),
      outdated: z.int().describe('Of another version of the server'),
    }),
  ),
  mostFiles: z.int().describe('In each folder'),
  mostBytes: z.int().describe('In each folder'),
});
export type CacheView = z.output<typeof cacheSchema>;

/** `512 MiB`, `0.3 MiB`. */
export function mebibytes(bytes: number): string {
  return `${Number((bytes / 1_048_576).toFixed(1))} MiB`;
}

export const isEmpty = ({ parts }: CacheView): boolean => parts.every(({ files }) => files === 0);

export function cacheLines(view: CacheView): string[] {
  const { parts, mostFiles, mostBytes } = view;
  if (isEmpty(view)) return [t`Cache: empty; only large content is kept`];
  return [
    t`Cache: at most ${mostFiles} files and ${mebibytes(mostBytes)} in each folder`,
    ...parts.map(({ part, folder, files, bytes, newest, oldest, damaged, outdated }) => {
      const size = files === 0 ? t`empty` : `${plural(files, 'file')}, ${mebibytes(bytes)}`;
      const days = [oldest, newest].map((time) => time?.slice(0, 10));
      const age =
        files === 0 ? '' : days[0] === days[1] ? t`, of ${days[1]}` : t`, of ${days[0]} to ${days[1]}`;
      const faults = [
        damaged === 0 ? '' : t`, ${damaged} damaged`,
        outdated === 0 ? '' : t`, ${outdated} of another version`,
      ].join('');
      return t`- ${part}: ${size}${age}${faults}\n  ${folder}`;
    }),
  ];
}
