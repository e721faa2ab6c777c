import { agentsConformance } from './agents.ts';
import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';

agentsConformance('memory', openMemoryTwice);
agentsConformance('sqlite', openSqliteTwice);
