import { presentText, writeGenerated } from '../../kernel/generated-files.ts';
import { configurationText, replaceSection } from './documentation.ts';

const README = 'services/common/platform/config/README.md';

/** `npm run config` prints the settings; `--readme` rewrites the table of README.md beside this file; `--check` exits 1 when that is stale. */
function main(mode: string | undefined): number {
  if (mode === undefined) {
    process.stdout.write(configurationText());
    return 0;
  }
  const wanted = new Map([[README, replaceSection(presentText(README) ?? '')]]);
  return writeGenerated(wanted, mode === '--readme' ? undefined : mode);
}

process.exitCode = main(process.argv[2]);
