import { repeats } from '../support/extent.ts';
import { describeYear } from './memory-year.ts';

describeYear({ sessions: 12, turnsPerSession: 8, kills: repeats(3, 1), timeoutMs: 120_000 });
