import { openMemoryTwice, openSqliteTwice } from '../support/document-stores.ts';
import { describeOnDocuments } from './on-documents.ts';

describeOnDocuments('memory', openMemoryTwice);
describeOnDocuments('sqlite', openSqliteTwice);
