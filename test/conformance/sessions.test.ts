import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';
import { sessionsConformance } from './sessions.ts';

sessionsConformance('memory', openMemoryTwice);
sessionsConformance('sqlite', openSqliteTwice);
