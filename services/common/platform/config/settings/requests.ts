import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { address, flag, optional, setting } = rowsOf('Requests');

export const requests = {
  uploadLimitBytes: setting('ENGRAM_UPLOAD_LIMIT_BYTES', {
    type: type.bytes({ min: 1_024 }),
    default: '1GB',
    meaning: 'Greatest size of one form upload, all files together; more is answered 413.',
  }),
  jsonLimitBytes: setting('ENGRAM_JSON_LIMIT_BYTES', {
    type: type.bytes({ min: 1_024 }),
    default: '32MB',
    meaning:
      'Greatest size of a JSON or urlencoded body; more is answered 413. Without signing in, 64 KiB is the limit.',
  }),
  bodyTimeoutMs: setting('ENGRAM_BODY_TIMEOUT', {
    type: type.secondsAsMs({ min: 1, max: 3_600 }),
    default: '60',
    meaning:
      'Seconds that the body of a request may keep the server waiting, and one more for each 4 KiB of it; more is answered 408.',
  }),
  acceptLocalFilePath: flag(
    'ACCEPT_LOCAL_FILE_PATH',
    'false',
    'Paths on the server are accepted as data, inside the roots below.',
  ),
  allowedLocalFileRoots: setting('COGNEE_ALLOWED_LOCAL_FILE_ROOTS', {
    type: type.pathList(),
    default: '',
    meaning: 'Directories for the paths above (`:` between them); none listed = none allowed.',
  }),
  allowHttpRequests: flag(
    'ALLOW_HTTP_REQUESTS',
    'true',
    'URLs given as data are fetched; never from private addresses.',
  ),
  webFetchTimeoutMs: setting('WEB_SCRAPER_TIMEOUT', {
    type: type.secondsAsMs({ min: 0.1, max: 600 }),
    default: '15',
    meaning: 'Seconds for one fetch of a URL.',
  }),
  documentWorkers: setting('ENGRAM_DOCUMENT_WORKERS', {
    type: type.integer({ min: 1, max: 64 }),
    default: '4',
    meaning:
      'Processes that read documents at the same time; never more than processors, nor than half of the memory has room for.',
  }),
  documentTimeoutMs: setting('ENGRAM_DOCUMENT_TIMEOUT', {
    type: type.secondsAsMs({ min: 1, max: 3_600 }),
    default: '60',
    meaning:
      'Seconds that reading one document, or one step over its text, may take; a document that needs more is refused with 422.',
  }),
  workerMemoryBytes: optional('ENGRAM_WORKER_MEMORY', {
    type: type.bytes({ min: 192 * 1024 * 1024 }),
    meaning:
      'Memory of one worker process, which reads documents or works on their texts; a document that needs more is refused with 422 (default: half of the memory for all of them together, 1 GiB each at most).',
  }),
  cloudApiUrl: setting('COGNEE_CLOUD_API_URL', {
    type: type.httpUrl(),
    default: 'http://localhost:8001',
    meaning: 'Hosted service whose API key `POST /api/v1/checks/connection` checks.',
  }),
  remoteUrl: address(
    'COGNEE_SERVICE_URL',
    'Remote memory that `POST /api/v1/sync` keeps datasets in step with (default: the one above). May be on a private network.',
  ),
  remoteApiKey: optional(['COGNEE_API_KEY', 'COGNEE_CLOUD_AUTH_TOKEN'], {
    type: type.secretText(1),
    secret: true,
    meaning: 'Its API key, sent as `X-Api-Key`.',
  }),
  allowCypherQuery: flag('ALLOW_CYPHER_QUERY', 'false', 'The search types CYPHER and NATURAL_LANGUAGE.'),
  logSearchHistory: flag('COGNEE_LOG_SEARCH_HISTORY', 'true', 'Questions and answers are kept for the histories.'),
  skillGateEnabled: flag(
    'SKILL_GATE_ENABLED',
    'true',
    'Recall and answers offer skills to a question that asks for one.',
  ),
  recallWarmupShortcircuit: flag(
    'RECALL_WARMUP_SHORTCIRCUIT',
    'true',
    'Recall answers with a marker while nothing was ever processed.',
  ),
  recallWarmupThreshold: setting('RECALL_WARMUP_THRESHOLD', {
    type: type.integer({ min: 0 }),
    default: '1',
    meaning: 'Processed items from which on recall searches.',
  }),
  recallWarmupCacheTtlMs: setting('RECALL_WARMUP_CACHE_TTL', {
    type: type.secondsAsMs({ min: 0, max: 86_400 }),
    default: '60',
    meaning: 'Seconds for which that count is remembered.',
  }),
};
