import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { flag, optional, setting } = rowsOf('Runs');

export const runs = {
  raiseItemErrors: flag(
    'RAISE_INCREMENTAL_LOADING_ERRORS',
    'false',
    'The first item that cannot be processed ends its run. `false`: it is reported as failed, and all others are built.',
  ),
  chunksPerBatch: optional('CHUNKS_PER_BATCH', {
    type: type.integer({ min: 1 }),
    shownDefault: 'chosen by the service',
    meaning: 'Chunks that are extracted together when a request does not say.',
  }),
  ontologyFiles: setting('ONTOLOGY_FILE_PATH', {
    type: type.list(),
    default: '',
    meaning:
      'Files of an ontology (RDF/XML, Turtle), as a comma list, that entities are matched with when a request names none.',
  }),
  ontologyMode: setting('ONTOLOGY_MODE', {
    type: type.oneOf(['annotate', 'strict']),
    default: 'annotate',
    meaning: '`strict`: of a text with an ontology, only entities that it knows become part of the graph.',
  }),
  ontologyResolver: setting('ONTOLOGY_RESOLVER', {
    type: type.oneOf(['rdflib']),
    default: 'rdflib',
    meaning: 'How ontologies are read; there is one way.',
  }),
  matchingStrategy: setting('MATCHING_STRATEGY', {
    type: type.oneOf(['fuzzy']),
    default: 'fuzzy',
    meaning: 'How names are matched with those of an ontology; there is one way: equal names, else similar ones.',
  }),
  staleRunMinAgeMs: setting('COGNEE_STALE_RUN_RECOVERY_MIN_AGE_SECONDS', {
    type: type.secondsAsMs({ min: 0, max: 365 * 86_400 }),
    default: '3600',
    meaning: 'Age in seconds from which a run without a job is closed as abandoned.',
  }),
};
