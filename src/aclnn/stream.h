// Streams: work is done when it is given, so a stream is a name only.
#ifndef FIA_ACLNN_STREAM_H_
#define FIA_ACLNN_STREAM_H_

#include "acl/acl_base.h"

namespace fia::aclnn {

// True for a live stream and for null, the default stream.
bool IsStream(aclrtStream stream);

}  // namespace fia::aclnn

#endif  // FIA_ACLNN_STREAM_H_
