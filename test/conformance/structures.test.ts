import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';
import { structuresConformance } from './structures.ts';

structuresConformance('memory', openMemoryTwice);
structuresConformance('sqlite', openSqliteTwice);
