import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { flag, setting } = rowsOf('Sessions');

export const sessions = {
  sessionMemory: flag(
    'CACHING',
    'true',
    'Sessions are remembered; `false` answers 503 to everything that would be kept in one.',
  ),
  sessionTtlMs: setting('SESSION_TTL_SECONDS', {
    type: type.secondsAsMs({ min: 0, max: 100 * 365 * 86_400 }),
    default: '604800',
    meaning:
      'Seconds after the last use of a session at which its entries go, once they are in the memory of its dataset; 0 = never.',
  }),
  sessionPurgeIntervalMs: setting('CACHE_PURGE_INTERVAL_SECONDS', {
    type: type.secondsAsMs({ min: 1, max: 86_400 }),
    default: '900',
    meaning: 'Seconds between two looks at what has expired.',
  }),
  sessionHistoryCharacters: setting('MAX_SESSION_CONTEXT_CHARS', {
    type: type.integer({ min: 0 }),
    default: '16000',
    meaning:
      'Greatest length of the earlier turns of a session in the prompt of an answer; the oldest give way. 0 = none.',
  }),
  sessionAbandonAfterMs: setting('SESSION_ABANDON_AFTER_SECONDS', {
    type: type.secondsAsMs({ min: 0, max: 365 * 86_400 }),
    default: '1800',
    meaning: 'Seconds without use from which a running session is shown as abandoned.',
  }),
  autoFeedback: flag(
    'AUTO_FEEDBACK',
    'true',
    'A language model, where one is configured, may judge turns of sessions and describe steps of agents.',
  ),
};
