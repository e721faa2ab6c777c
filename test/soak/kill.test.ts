import { describeKills } from '../e2e/kill-cases.ts';

describeKills({ kills: Number(process.env['ENGRAM_SOAK_KILLS'] ?? 30), documents: 40 });
