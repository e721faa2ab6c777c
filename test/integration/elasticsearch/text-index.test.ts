import { textIndexConformance } from '../../conformance/text-index.ts';
import { withBackend } from '../backend.ts';
import { freshPrefix, openTestIndexes } from './indexes.ts';

withBackend('elasticsearch', ({ ENGRAM_TEST_ELASTICSEARCH_URL: url }) => {
  textIndexConformance('Elasticsearch', () => openTestIndexes({ url, indexPrefix: freshPrefix() }));
});
