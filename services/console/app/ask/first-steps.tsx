import { Button, Group, List, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { engram } from '../api.ts';
import { build } from '../datasets/add.tsx';
import { useMe } from '../queries.ts';
import { LinkButton, PageTitle } from '../shell.tsx';
import { complain } from '../states.tsx';

const EXAMPLE = `The Harbour Library was founded by Ada Berg in Oslo in 1998. It lends musical instruments, among them violins, cellos and drums.

Ada Berg lives in Bergen and works with Jonas Lie on the catalogue. Jonas Lie joined the library in 2004, after ten years at the conservatory in Tromsø.

A violin is lent for four weeks. Members pay a deposit of 200 kroner, which they get back when the instrument comes back unharmed.`;

/** First steps on an empty server: how to get to the first answer. */
export function FirstSteps() {
  const me = useMe();
  const client = useQueryClient();
  const navigate = useNavigate();
  const example = useMutation({
    async mutationFn() {
      const { id } = await engram.post('/api/v1/datasets', { body: { name: 'example' } });
      await engram.add(new File([EXAMPLE], 'harbour-library.txt', { type: 'text/plain' }), id);
      await build(id);
      return id;
    },
    async onSuccess(id) {
      await client.invalidateQueries();
      await navigate({ to: '/datasets/$dataset', params: { dataset: id } });
    },
    onError: complain,
  });
  return (
    <Stack maw={620} mx="auto">
      <PageTitle title="Ask" />
      <Title order={2} size="h4">
        There is nothing to ask yet
      </Title>
      <Text>Engram answers from documents that you add, and shows where each answer stands.</Text>
      <List type="ordered" spacing="xs">
        <List.Item>Make a dataset and drop a few files into it, paste a text, or give the address of a page.</List.Item>
        <List.Item>Wait until they are read. The graph of what they say is built by itself.</List.Item>
        <List.Item>Ask in your own words. Rate answers: Improve learns from it.</List.Item>
      </List>
      <Group>
        <LinkButton to="/datasets">Add the first documents</LinkButton>
        <Button variant="default" loading={example.isPending} onClick={() => example.mutate()}>
          Try it with an example
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        {me?.is_superuser
          ? 'Without a language model answers are quotes from your documents. Settings has a place for one. '
          : ''}
        Agents and scripts use the same memory: see Integrations.
      </Text>
    </Stack>
  );
}
