import { describeKills } from './kill-cases.ts';

describeKills({ kills: 3, documents: 12 });
