import { describeOnDocuments } from '../../behaviour/on-documents.ts';
import { withBackend } from '../backend.ts';
import { openMongodbTwice } from './mongodb-subject.ts';

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  describeOnDocuments('mongodb', () => openMongodbTwice(url));
});
