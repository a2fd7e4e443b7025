// Names of nodes: over lines and other nodes, and on a ground of its own for the node under the pointer or the open one.
import type { Attributes } from 'graphology-types';
import type { NodeHoverDrawingFunction, NodeLabelDrawingFunction } from 'sigma/rendering';
import type { Colours } from './colours.ts';

const PADDING = 4;

/** A name with a rim in the colour of the ground. */
export function drawName<N extends Attributes, E extends Attributes>({
  text,
  ground,
}: Colours): NodeLabelDrawingFunction<N, E> {
  return (context, { label, x, y, size }, { labelSize, labelFont, labelWeight }) => {
    if (label === null || label === undefined) return;
    context.font = `${labelWeight} ${labelSize}px ${labelFont}`;
    context.lineJoin = 'round';
    context.lineWidth = PADDING;
    context.strokeStyle = ground;
    const at = [x + size + PADDING, y + labelSize / 3] as const;
    context.strokeText(label, ...at);
    context.fillStyle = text;
    context.fillText(label, ...at);
  };
}

export function drawOpenName<N extends Attributes, E extends Attributes>({
  text,
  ground,
  line,
}: Colours): NodeHoverDrawingFunction<N, E> {
  return (context, { label, x, y, size, color }, { labelSize, labelFont, labelWeight }) => {
    context.font = `${labelWeight} ${labelSize}px ${labelFont}`;
    context.fillStyle = ground;
    context.strokeStyle = line;
    context.lineWidth = 1;
    if (label !== null && label !== undefined) {
      const width = context.measureText(label).width + size + 3 * PADDING;
      const height = Math.max(labelSize, 2 * size) + 2 * PADDING;
      context.beginPath();
      context.roundRect(x - size - PADDING, y - height / 2, width + size + PADDING, height, PADDING);
      context.fill();
      context.stroke();
      context.fillStyle = text;
      context.fillText(label, x + size + PADDING, y + labelSize / 3);
    }
    context.fillStyle = color;
    context.beginPath();
    context.arc(x, y, size, 0, 2 * Math.PI);
    context.fill();
  };
}
