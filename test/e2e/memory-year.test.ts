import { describeYear } from './memory-year.ts';

describeYear({ sessions: 12, turnsPerSession: 8, kills: 3, timeoutMs: 120_000 });
