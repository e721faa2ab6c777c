import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configurationText, END_MARK, replaceSection, START_MARK } from './documentation.ts';

/** `npm run config` prints the settings; `--readme` rewrites the table of README.md beside this file; `--check` exits 1 when that is stale. */
function main(mode: string | undefined): number {
  if (mode === undefined) {
    process.stdout.write(configurationText());
    return 0;
  }
  if (mode !== '--readme' && mode !== '--check') {
    process.stderr.write(`Unknown option ${mode}: give none, --readme or --check.\n`);
    return 2;
  }
  const path = fileURLToPath(new URL('README.md', import.meta.url));
  const present = readFileSync(path, 'utf8');
  const wanted = replaceSection(present);
  if (wanted === null) {
    process.stderr.write(`${path} lacks the marks ${START_MARK} and ${END_MARK}.\n`);
    return 1;
  }
  if (wanted === present) return 0;
  if (mode === '--check') {
    process.stderr.write('The table of services/common/platform/config/README.md is stale: run npm run generate.\n');
    return 1;
  }
  writeFileSync(path, wanted);
  return 0;
}

process.exitCode = main(process.argv[2]);
