// Preloaded into a server and the processes that it forks: texts with certain words harm whoever works on them.
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const cut = new Set();
const isWorker = /worker-process\.(ts|mjs)$/.test(process.argv[1] ?? '');

if (isWorker) {
  // Not as a listener: what comes before the worker listens would be lost to it.
  const { emit } = process;
  process.emit = (event, message, ...rest) => {
    const isCall = event === 'message' && message?.kind === 'call';
    if (isCall && JSON.stringify(message.input ?? null).includes('ENDS-WORKER')) process.exit(1);
    return emit.call(process, event, message, ...rest);
  };
} else {
  const { fork } = childProcess;
  childProcess.fork = (entry, args, options) =>
    fork(entry, args, { ...options, execArgv: [...options.execArgv, '--import', import.meta.url] });
  syncBuiltinESMExports();
  const parse = JSON.parse;
  JSON.parse = (text, ...rest) => {
    const value = parse(text, ...rest);
    return typeof text === 'string' && text.includes('POISON-') ? poisoned(value, text) : value;
  };
}

/** Poisons a document that is loaded in order to be built, by the name of the function: a bundle has no files to go by. */
function poisoned(value, text) {
  const callers = new Error().stack?.split('\n').slice(1, 5) ?? [];
  if (!callers.some((caller) => /\breadStoredDocument\d*\b/.test(caller))) return value;
  if (text.includes('POISON-ENDS-SERVER')) process.kill(process.pid, 'SIGKILL');
  const [letter] = /letter number \d+/.exec(text) ?? [''];
  // What was stored is cut off; what is made of the original in its place is not.
  if (text.includes('POISON-CUT') && !cut.has(letter)) {
    cut.add(letter);
    throw new SyntaxError('Unexpected end of JSON input');
  }
  if (!text.includes('POISON-BROKEN')) return value;
  return Object.defineProperty(value, 'title', {
    get() {
      throw new Error('this document is poisoned');
    },
  });
}
