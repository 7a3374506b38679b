// A block waits for a word that its peer writes into its shared memory, at the scope of the cluster.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
enum Twin { right, block_release, block_acquire, relaxed, unguarded };

template <Twin T> __global__ void cluster_flag(const int* in, int* out) {
    __shared__ int box[64], flag;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    if (T != unguarded) cluster.sync();
    if (cluster.block_rank() == 0) {
        int* theirs = cluster.map_shared_rank(box, 1);
        int* raised = cluster.map_shared_rank(&flag, 1);
        theirs[t] = in[t] * 2;
        __syncthreads();
        if (t == 0) {
            if (T == block_release) asm volatile("st.release.cta.u32 [%0], 1;" ::"l"(raised) : "memory");
            else if (T == relaxed) asm volatile("st.relaxed.cluster.u32 [%0], 1;" ::"l"(raised) : "memory");
            else asm volatile("st.release.cluster.u32 [%0], 1;" ::"l"(raised) : "memory");
        }
    } else {
        int up = 0;
        while (t == 0 && !up) {
            if (T == block_acquire) asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(up) : "l"(&flag) : "memory");
            else asm volatile("ld.acquire.cluster.u32 %0, [%1];" : "=r"(up) : "l"(&flag) : "memory");
        }
        __syncthreads();
        out[t] = box[63 - t];
    }
    cluster.sync();
}
