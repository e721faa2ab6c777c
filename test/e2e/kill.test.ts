import { describeKills } from './kill-cases.ts';

describeKills({ kills: 2, documents: 8 });
