import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';
import { learnedConformance } from './learned.ts';

learnedConformance('memory', openMemoryTwice);
learnedConformance('sqlite', openSqliteTwice);
