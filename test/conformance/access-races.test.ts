import { accessRaces } from './access-races.ts';
import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';

accessRaces('memory', openMemoryTwice);
accessRaces('sqlite', openSqliteTwice);
