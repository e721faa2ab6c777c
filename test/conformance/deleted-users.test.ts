import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';
import { deletedUsersConformance } from './deleted-users.ts';

deletedUsersConformance('memory', openMemoryTwice);
deletedUsersConformance('sqlite', openSqliteTwice);
