import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url);

/**
 * Writes the generated files that differ from their wanted text, by path from the root of the repository; null removes a file.
 * With `--check` it only names them. Returns the exit code.
 */
export function writeGenerated(wanted: ReadonlyMap<string, string | null>, mode: string | undefined): number {
  if (mode !== undefined && mode !== '--check') {
    process.stderr.write(`Unknown option ${mode}: give none or --check.\n`);
    return 2;
  }
  const stale = [...wanted].filter(([path, text]) => presentText(path) !== text);
  for (const [path, text] of stale) {
    const file = fileURLToPath(new URL(path, ROOT));
    if (mode === '--check') process.stderr.write(`${path} is stale: run npm run generate.\n`);
    else if (text === null) rmSync(file);
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
  return mode === '--check' && stale.length > 0 ? 1 : 0;
}

/** Text of a file by its path from the root of the repository; null: there is none. */
export function presentText(path: string): string | null {
  const file = new URL(path, ROOT);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/** Replaces what stands between two marks, which stay. Throws when one is missing. */
export function replaceBetween(document: string, [start, end]: readonly [string, string], text: string): string {
  const [from, to] = [document.indexOf(start), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The document lacks the marks ${start} and ${end}.`);
  return `${document.slice(0, from + start.length)}\n${text}\n${document.slice(to)}`;
}
