import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';
import { hygieneConformance } from './hygiene.ts';

hygieneConformance('memory', openMemoryTwice);
hygieneConformance('sqlite', openSqliteTwice);
