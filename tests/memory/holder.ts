import { createInterface } from 'node:readline';
import { sqliteDriver } from '../../src/services/memory/sqlite/database.ts';

/**
 * A process that keeps a database to itself and asks its parent questions meanwhile: `holder FILE`. It lets go when all
 * are answered, or when it has waited for an answer for longer than any parent needs that is still listening, and says
 * which it was.
 */
const QUESTIONS = 12;
const APART_MS = 60;
const PATIENCE_MS = 4_000;

const [file = ''] = process.argv.slice(2);
const connection = (await sqliteDriver()).connect(file, 0);
connection.exec('PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE held (one)');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

let answered = 0;
const end = (word: string): void => {
  connection.exec('ROLLBACK');
  connection.close();
  say(word);
  process.exit(0);
};
const tired = setTimeout(() => end('gave up'), PATIENCE_MS);
say('held');
createInterface({ input: process.stdin }).on('line', () => {
  answered++;
  tired.refresh();
  if (answered <= QUESTIONS) setTimeout(() => say('question'), APART_MS);
  else {
    clearTimeout(tired);
    end('let go');
  }
});
