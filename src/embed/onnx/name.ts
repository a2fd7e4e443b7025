/** Beginning of the names of vectors, and of backends, of the operator's models. */
export const ONNX_NAME_START = 'onnx:';
