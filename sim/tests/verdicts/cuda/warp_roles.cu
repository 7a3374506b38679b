// One warp fetches tiles into a ring of two, two warps work on them: full and empty mbarriers for each stage.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
enum Twin { right, no_full_wait, no_empty_wait, no_release, no_phase_turn, one_release, early_release, no_expect };

__device__ void wait(uint64_t* bar, int parity) { while (!ptx::mbarrier_try_wait_parity(bar, parity)); }

template <Twin T> __global__ void warp_roles(const int* in, int* out, int steps) {
    __shared__ alignas(128) int ring[2][64];
    __shared__ uint64_t full[2], empty[2];
    int t = threadIdx.x, warp = t / 32;
    if (t == 0) {
        for (int s = 0; s < 2; s++) ptx::mbarrier_init(&full[s], 1), ptx::mbarrier_init(&empty[s], 2);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (warp == 2) {
        if (t == 64)
            for (int k = 0; k < steps; k++) {
                int s = k % 2, phase = T == no_phase_turn ? 0 : k / 2 & 1;
                if (T != no_empty_wait) wait(&empty[s], phase ^ 1);
                if (T == no_expect) ptx::mbarrier_arrive(&full[s]);
                else ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], sizeof(ring[s]));
                ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ring[s], in + k * 64, sizeof(ring[s]), &full[s]);
            }
    } else {
        int sum = 0;
        for (int k = 0; k < steps; k++) {
            int s = k % 2;
            if (T != no_full_wait) wait(&full[s], k / 2 & 1);
            if (T == early_release && t % 32 == 0) ptx::mbarrier_arrive(&empty[s]);
            sum = sum * 3 + ring[s][t ^ 1];
            __syncwarp();
            if (T == one_release ? t == 0 : T != no_release && T != early_release && t % 32 == 0) ptx::mbarrier_arrive(&empty[s]);
        }
        out[t] = sum;
    }
}
