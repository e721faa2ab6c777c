import { Alert, Button, List, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { engram } from '../api.ts';
import { plural } from '../format.ts';
import { afterRun, sizesQuery, usePermitted } from '../queries.ts';
import { attempt } from '../states.tsx';
import { titleOf } from './items.tsx';

/** Documents that could not be built, each with its reason. */
export function Failures({ dataset }: { readonly dataset: string }) {
  const client = useQueryClient();
  const mayWrite = usePermitted('write').has(dataset);
  const items = useQuery(sizesQuery(dataset)).data?.rows ?? [];
  const failed = items.filter(({ failure }) => failure !== undefined);
  if (failed.length === 0) return null;
  const retry = async () => {
    const call = { path: { dataset_id: dataset }, body: { data_ids: failed.map(({ id }) => id) } };
    await attempt(() => engram.post('/api/v1/datasets/{dataset_id}/data/retry', call), 'They are tried again.');
    afterRun(client);
  };
  return (
    <Alert
      color="red"
      variant="outline"
      title={`${plural(failed.length, 'document')} could not be built`}
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
    >
      <List listStyleType="none" spacing={4} mah={200} style={{ overflow: 'auto' }} tabIndex={0}>
        {failed.map((item) => (
          <List.Item key={item.id}>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              <b>{titleOf(item)}</b>: {item.failure?.message}
              {item.failure?.isSetAside ? ' It is set aside: builds pass over it.' : ''}
            </Text>
          </List.Item>
        ))}
      </List>
      {mayWrite ? (
        <Button size="compact-sm" variant="default" mt="xs" onClick={() => void retry()}>
          Try again
        </Button>
      ) : null}
    </Alert>
  );
}
