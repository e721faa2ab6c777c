import { describeWhenWhole } from '../support/extent.ts';
import { describeYear } from './memory-year.ts';

describeWhenWhole('in short', () => describeYear({ sessions: 12, turnsPerSession: 8, kills: 3, timeoutMs: 120_000 }));
