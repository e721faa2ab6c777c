import { Readable, Writable } from 'node:stream';
import { runCli } from '../../services/cli/cli.ts';
import type { Terminal } from '../../services/cli/terminal.ts';

type Given = Partial<Omit<Terminal, 'out' | 'err'>>;

/** A terminal whose output is kept in `texts`. */
export function createTerminal({ isInteractive = false, ...given }: Given = {}) {
  const texts = { out: '', err: '' };
  const sink = (name: keyof typeof texts) => {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        texts[name] += String(chunk);
        done();
      },
    });
    return Object.assign(stream, { isTTY: isInteractive });
  };
  const streams = { out: sink('out'), err: sink('err') };
  const terminal: Terminal = { ...streams, input: Readable.from([]), environment: {}, ...given, isInteractive };
  return { texts, terminal };
}

/** Runs `engram …` in this process. */
export async function runCommand(args: readonly string[], given: Given = {}) {
  const { texts, terminal } = createTerminal(given);
  const code = await runCli(args, terminal);
  return { code, ...texts };
}
