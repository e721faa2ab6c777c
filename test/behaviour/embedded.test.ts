import { openSqliteTwice } from '../support/document-stores.ts';
import { describeOnDocuments } from './on-documents.ts';

describeOnDocuments('sqlite', openSqliteTwice);
