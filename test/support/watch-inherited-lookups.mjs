// Preloaded into a process: appends a stack to a file whenever a word is looked up on an object that inherits it.
import { appendFileSync } from 'node:fs';

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
