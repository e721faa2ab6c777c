import { describeYear } from '../e2e/memory-year.ts';

describeYear({ sessions: 200, turnsPerSession: 25, kills: 40, timeoutMs: 1_800_000 });
