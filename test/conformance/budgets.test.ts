import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';
import { budgetConformance } from './budgets.ts';

budgetConformance('memory', openMemoryTwice);
budgetConformance('sqlite', openSqliteTwice);
