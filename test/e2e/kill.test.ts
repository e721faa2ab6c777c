import { repeats } from '../support/extent.ts';
import { describeKills } from './kill-cases.ts';

describeKills({ kills: repeats(2, 1), documents: 8 });
