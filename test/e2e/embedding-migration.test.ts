import { embeddingMigrationCases } from '../behaviour/embedding-migration.ts';
import { startManagedApp } from '../support/managed-app.ts';

describe('migration of embeddings, embedded', () => {
  embeddingMigrationCases((settings) => startManagedApp(settings));
});
