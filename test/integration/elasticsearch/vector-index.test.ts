import { vectorIndexConformance } from '../../conformance/vector-index.ts';
import { withBackend } from '../backend.ts';
import { freshPrefix, openTestIndexes } from './indexes.ts';

withBackend('elasticsearch', ({ ENGRAM_TEST_ELASTICSEARCH_URL: url }) => {
  vectorIndexConformance('Elasticsearch', () => openTestIndexes({ url, indexPrefix: freshPrefix() }));
});
