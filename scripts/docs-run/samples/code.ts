import { KIT_LIKE_SCRIPT, SCRIPT_PATH } from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { commit } from './git.ts';
import type { Sample } from '../sample.ts';

export async function code({ project, env }: Sample): Promise<void> {
  // What is shown does not depend on how fast the machine reads the files.
  env['BMAD_CODE_SEARCH_MS'] = '60000';
  await writeFiles(project, {
    'package.json': '{ "name": "shop", "private": true, "type": "module" }\n',
    'src/cart.ts':
      '/** Adds up the prices of a cart, in cents. */\nexport function total(cart: readonly { price: number }[]): number {\n  return cart.reduce((sum, { price }) => sum + price, 0);\n}\n',
    'src/lock.ts':
      "import { rm } from 'node:fs/promises';\n\n/**\n * Takes over the lock of a process that has died. Only one process at a time may, and only that very lock.\n */\nexport async function takeOverLock(path: string, holder: number): Promise<boolean> {\n  if (isAlive(holder)) return false;\n  await rm(path);\n  return true;\n}\n\nfunction isAlive(pid: number): boolean {\n  try {\n    return process.kill(pid, 0);\n  } catch {\n    return false;\n  }\n}\n",
    'src/orders.ts':
      '/** Writes an order, and tries again with a longer pause each time the disk is full. */\nexport async function writeOrder(order: string, write: (text: string) => Promise<void>): Promise<void> {\n  for (let pause = 100; ; pause *= 2)\n    try {\n      return await write(order);\n    } catch {\n      await new Promise((resolve) => setTimeout(resolve, pause));\n    }\n}\n',
    'docs/prd.md': '# Shop\n\nSmall orders, many a day.\n',
    '.verify/typescript': 'tsc --noEmit|OK\nnpm test|OK\n',
    [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
  });
  await commit(project, 'First');
}
