import * as type from '../value-types.ts';
import { optional, setting } from './setting.ts';

export const runs = {
  raiseItemErrors: setting({
    names: ['RAISE_INCREMENTAL_LOADING_ERRORS'],
    section: 'Runs',
    type: type.flag(),
    default: 'false',
    meaning:
      'The first item that cannot be processed ends its run. `false`: it is reported as failed, and all others are built.',
  }),
  chunksPerBatch: optional({
    names: ['CHUNKS_PER_BATCH'],
    section: 'Runs',
    type: type.integer({ min: 1 }),
    shownDefault: 'chosen by the service',
    meaning: 'Chunks that are extracted together when a request does not say.',
  }),
  ontologyFiles: setting({
    names: ['ONTOLOGY_FILE_PATH'],
    section: 'Runs',
    type: type.list(),
    default: '',
    meaning:
      'Files of an ontology (RDF/XML, Turtle), as a comma list, that entities are matched with when a request names none.',
  }),
  ontologyMode: setting({
    names: ['ONTOLOGY_MODE'],
    section: 'Runs',
    type: type.oneOf(['annotate', 'strict']),
    default: 'annotate',
    meaning: '`strict`: of a text with an ontology, only entities that it knows become part of the graph.',
  }),
  ontologyResolver: setting({
    names: ['ONTOLOGY_RESOLVER'],
    section: 'Runs',
    type: type.oneOf(['rdflib']),
    default: 'rdflib',
    meaning: 'How ontologies are read; there is one way.',
  }),
  matchingStrategy: setting({
    names: ['MATCHING_STRATEGY'],
    section: 'Runs',
    type: type.oneOf(['fuzzy']),
    default: 'fuzzy',
    meaning: 'How names are matched with those of an ontology; there is one way: equal names, else similar ones.',
  }),
  staleRunMinAgeMs: setting({
    names: ['COGNEE_STALE_RUN_RECOVERY_MIN_AGE_SECONDS'],
    section: 'Runs',
    type: type.secondsAsMs({ min: 0, max: 365 * 86_400 }),
    default: '3600',
    meaning: 'Age in seconds from which a run without a job is closed as abandoned.',
  }),
};
