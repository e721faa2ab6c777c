import { presentText, writeGenerated } from '../../kernel/generated-files.ts';
import { methodTableText, replaceSubjectMap } from './subject-map.ts';

const README = 'proto/README.md';

/** `npm run generate` writes the method table and README's subject map; `--check` exits 1 when one is stale. */
const wanted = new Map([
  [README, replaceSubjectMap(presentText(README) ?? '')],
  ['proto/gen/method-table.ts', methodTableText()],
]);
process.exitCode = writeGenerated(wanted, process.argv[2]);
