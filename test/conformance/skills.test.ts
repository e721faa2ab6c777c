import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';
import { skillsConformance } from './skills.ts';

skillsConformance('memory', openMemoryTwice);
skillsConformance('sqlite', openSqliteTwice);
