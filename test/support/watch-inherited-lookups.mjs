// Preloaded into a process and those that it forks: appends a stack to a file whenever a word is looked up on an object that inherits it.
import childProcess from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const word = process.env['TEST_WATCHED_WORD'];
const file = process.env['TEST_WATCHED_LOOKUPS'];
const seen = new Set();

function note(how) {
  const stack = (new Error().stack ?? '').split('\n').slice(3, 9).join('\n');
  if (seen.has(stack)) return;
  seen.add(stack);
  appendFileSync(file, `${how}\n${stack}\n\n`);
}

if (word !== undefined && file !== undefined) {
  // Worker processes get neither options nor variables of their parent.
  const { fork } = childProcess;
  childProcess.fork = (entry, args, options) =>
    fork(entry, args, {
      ...options,
      execArgv: [...options.execArgv, '--import', import.meta.url],
      env: { ...options.env, TEST_WATCHED_WORD: word, TEST_WATCHED_LOOKUPS: file },
    });
  syncBuiltinESMExports();
  for (const spelling of new Set([word, word.toUpperCase(), `${word[0].toUpperCase()}${word.slice(1)}`])) {
    Object.defineProperty(Object.prototype, spelling, {
      configurable: true,
      enumerable: false,
      get() {
        note(`read ${spelling}`);
        return undefined;
      },
      set(value) {
        Object.defineProperty(this, spelling, { value, writable: true, enumerable: true, configurable: true });
      },
    });
  }
}
