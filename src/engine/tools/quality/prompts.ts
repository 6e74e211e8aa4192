// What quality is measured on: sixteen prompts in the words of the bundled checkpoint's world, every colour, shape, motion and
// background among them.

/** A prompt's place in the list, from 0, is also the seed of its noise. */
export const qualityPrompts: readonly string[] = [
  'A red ball rolls to the right slowly on a white background.',
  'A green square moves to the left quickly on a black background.',
  'A blue triangle glides up slowly on a grey background.',
  'A yellow ring rolls down quickly on a sky background.',
  'A purple ball bounces up and down quickly on a sand background.',
  'An orange square bounces between the walls quickly on a white background.',
  'A red triangle circles around the centre clockwise slowly on a black background.',
  'A green ring moves in a circle counterclockwise quickly on a grey background.',
  'A blue ball grows slowly on a sky background.',
  'A yellow square shrinks quickly on a sand background.',
  'A purple triangle and an orange ball collide quickly on a white background.',
  'A red square and a blue ring bump into each other slowly on a black background.',
  'A green ball moves to the right and a yellow triangle moves to the left slowly on a grey background.',
  'A purple ring goes up and a red ball goes down quickly on a sky background.',
  'An orange triangle slides from left to right slowly on a sand background.',
  'A blue square stands still on a white background.',
];
