import { auditLogConformance } from './audit-log.ts';
import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';

auditLogConformance('memory', openMemoryTwice);
auditLogConformance('sqlite', openSqliteTwice);
