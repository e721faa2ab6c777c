import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';
import { loginFailuresConformance } from './login-failures.ts';

loginFailuresConformance('memory', openMemoryTwice);
loginFailuresConformance('sqlite', openSqliteTwice);
