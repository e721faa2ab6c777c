/** Writes to a dataset until it is killed, telling its parent after each acknowledged round: `index-writer.ts <directory> <dataset>`. */
import { createSqliteDatasetIndexes } from '../../services/common/storage/indexes/sqlite/sqlite-dataset-indexes.ts';
import { createScopes, edge, node, textEntry, vectorEntry } from './dataset-rows.ts';

const [directory = '', dataset = ''] = process.argv.slice(2);
const { text, vectors, graph } = await createSqliteDatasetIndexes({ directory });
const scope = createScopes()(dataset);
for (let round = 1; ; round++) {
  await Promise.all([
    text.upsert(scope, [textEntry(`row-${round}`, `word r${round}`)]),
    vectors.upsert(scope, { model: 'test/model', dimensions: 3 }, [vectorEntry(`row-${round}`, [1, round, 0])]),
    graph.upsert(scope, { nodes: [node(`node-${round}`)], edges: [edge(`node-${round}`, 'hub')] }),
  ]);
  process.send?.(round);
}
