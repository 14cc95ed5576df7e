/* apiserver/rbac_bootstrap_table.c - the roles of v1.36, one row each.
 *
 *     rules     = rule { "; " rule }
 *     rule      = groups "{" resources "}" [ "[" names "]" ] ":" verbs   |   "URL(" paths ")" ":" verbs
 *     groups    = group { "|" group }, the group without a name is empty; lists are separated by spaces
 *     verbs     = "r" (get list watch)  |  "w" (create delete deletecollection patch update)  |  "rw"  |  verb { "," verb }
 *     bound_to  = "User/" name  |  "Group/" name  |  "S/" a service account in kube-system, separated by spaces
 *
 * Upstream: authorizer/rbac/bootstrappolicy, with the feature gates as they are by default. */
#include "apiserver/rbac_bootstrap_table.h"

const struct bootstrap_role bootstrap_roles[] = {
    { .name = "admin",
      .selects = "aggregate-to-admin" },
    { .name = "cluster-admin", .bound_to = "Group/system:masters",
      .rules = "*{*}:*; URL(*):*" },
    { .name = "edit", .label = "aggregate-to-admin",
      .selects = "aggregate-to-edit" },
    { .name = "system:aggregate-to-admin", .label = "aggregate-to-admin",
      .rules = "authorization.k8s.io{localsubjectaccessreviews}:create; rbac.authorization.k8s.io{rolebindings"
               " roles}:rw" },
    { .name = "system:aggregate-to-edit", .label = "aggregate-to-edit",
      .rules = "{pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy}:r; "
               "{serviceaccounts}:impersonate; {pods pods/attach pods/exec pods/portforward pods/proxy}:w; "
               "{pods/eviction}:create; {configmaps persistentvolumeclaims replicationcontrollers"
               " replicationcontrollers/scale secrets serviceaccounts services services/proxy}:w; "
               "{serviceaccounts/token}:create; |events.k8s.io{events}:w; apps{daemonsets deployments"
               " deployments/rollback deployments/scale replicasets replicasets/scale statefulsets"
               " statefulsets/scale}:w; autoscaling{horizontalpodautoscalers}:w; batch{cronjobs jobs}:w; "
               "extensions{daemonsets deployments deployments/rollback deployments/scale ingresses"
               " networkpolicies replicasets replicasets/scale replicationcontrollers/scale}:w; "
               "policy{poddisruptionbudgets}:w; networking.k8s.io{ingresses networkpolicies}:w; "
               "coordination.k8s.io{leases}:rw; resource.k8s.io{resourceclaims resourceclaimtemplates}:w" },
    { .name = "system:aggregate-to-view", .label = "aggregate-to-view",
      .rules = "{configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods"
               " replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status}:r; "
               "{bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status"
               " resourcequotas resourcequotas/status}:r; {namespaces}:r; |events.k8s.io{events}:r; "
               "discovery.k8s.io{endpointslices}:r; apps{controllerrevisions daemonsets daemonsets/status"
               " deployments deployments/scale deployments/status replicasets replicasets/scale"
               " replicasets/status statefulsets statefulsets/scale statefulsets/status}:r; "
               "autoscaling{horizontalpodautoscalers horizontalpodautoscalers/status}:r; batch{cronjobs"
               " cronjobs/status jobs jobs/status}:r; extensions{daemonsets daemonsets/status deployments"
               " deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets"
               " replicasets/scale replicasets/status replicationcontrollers/scale}:r; "
               "policy{poddisruptionbudgets poddisruptionbudgets/status}:r; networking.k8s.io{ingresses"
               " ingresses/status networkpolicies}:r; resource.k8s.io{resourceclaims resourceclaims/status"
               " resourceclaimtemplates}:r" },
    { .name = "system:auth-delegator",
      .rules = "authentication.k8s.io{tokenreviews}:create; authorization.k8s.io{subjectaccessreviews}:create" },
    { .name = "system:basic-user", .bound_to = "Group/system:authenticated",
      .rules = "authorization.k8s.io{selfsubjectaccessreviews selfsubjectrulesreviews}:create; "
               "authentication.k8s.io{selfsubjectreviews}:create" },
    { .name = "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
      .rules = "certificates.k8s.io{certificatesigningrequests/nodeclient}:create" },
    { .name = "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
      .rules = "certificates.k8s.io{certificatesigningrequests/selfnodeclient}:create" },
    { .name = "system:certificates.k8s.io:kube-apiserver-client-approver",
      .rules = "certificates.k8s.io{signers}[kubernetes.io/kube-apiserver-client]:approve" },
    { .name = "system:certificates.k8s.io:kube-apiserver-client-kubelet-approver",
      .rules = "certificates.k8s.io{signers}[kubernetes.io/kube-apiserver-client-kubelet]:approve" },
    { .name = "system:certificates.k8s.io:kubelet-serving-approver",
      .rules = "certificates.k8s.io{signers}[kubernetes.io/kubelet-serving]:approve" },
    { .name = "system:certificates.k8s.io:legacy-unknown-approver",
      .rules = "certificates.k8s.io{signers}[kubernetes.io/legacy-unknown]:approve" },
    { .name = "system:controller:attachdetach-controller", .bound_to = "S/attachdetach-controller",
      .rules = "{persistentvolumeclaims persistentvolumes}:list,watch; {nodes}:r; {nodes/status}:patch,update; "
               "{pods}:list,watch; |events.k8s.io{events}:create,patch,update; "
               "storage.k8s.io{volumeattachments}:create,delete,get,list,watch; storage.k8s.io{csidrivers}:r; "
               "storage.k8s.io{csinodes}:r" },
    { .name = "system:controller:certificate-controller", .bound_to = "S/certificate-controller",
      .rules = "certificates.k8s.io{certificatesigningrequests}:delete,get,list,watch; "
               "certificates.k8s.io{certificatesigningrequests/approval certificatesigningrequests/status}:update; "
               "certificates.k8s.io{signers}[kubernetes.io/kube-apiserver-client-kubelet]:approve; "
               "certificates.k8s.io{signers}[kubernetes.io/kube-apiserver-client"
               " kubernetes.io/kube-apiserver-client-kubelet kubernetes.io/kubelet-serving"
               " kubernetes.io/legacy-unknown]:sign; authorization.k8s.io{subjectaccessreviews}:create; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:clusterrole-aggregation-controller",
      .bound_to = "S/clusterrole-aggregation-controller",
      .rules = "rbac.authorization.k8s.io{clusterroles}:escalate,get,list,patch,update,watch" },
    { .name = "system:controller:cronjob-controller", .bound_to = "S/cronjob-controller",
      .rules = "batch{cronjobs}:get,list,update,watch; batch{jobs}:create,delete,get,list,patch,update,watch; "
               "batch{cronjobs/status}:update; batch{cronjobs/finalizers}:update; {pods}:delete,list,watch; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:daemon-set-controller", .bound_to = "S/daemon-set-controller",
      .rules = "apps|extensions{daemonsets}:r; apps|extensions{daemonsets/status}:update; "
               "apps|extensions{daemonsets/finalizers}:update; {nodes}:list,watch; "
               "{pods}:create,delete,list,patch,watch; {pods/binding}:create; "
               "apps{controllerrevisions}:create,delete,get,list,patch,update,watch; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:deployment-controller", .bound_to = "S/deployment-controller",
      .rules = "apps|extensions{deployments}:get,list,update,watch; apps|extensions{deployments/status}:update; "
               "apps|extensions{deployments/finalizers}:update; "
               "apps|extensions{replicasets}:create,delete,get,list,patch,update,watch; "
               "{pods}:get,list,update,watch; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:device-taint-eviction-controller", .bound_to = "S/device-taint-eviction-controller",
      .rules = "{pods}:delete,get,list,watch; {pods/status}:patch,update; resource.k8s.io{resourceclaims}:r; "
               "resource.k8s.io{resourceslices}:r; resource.k8s.io{deviceclasses}:r; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:disruption-controller", .bound_to = "S/disruption-controller",
      .rules = "apps|extensions{deployments}:r; apps|extensions{replicasets}:r; {replicationcontrollers}:r; "
               "policy{poddisruptionbudgets}:r; apps{statefulsets}:r; policy{poddisruptionbudgets/status}:update; "
               "{pods/status}:patch,update; *{*/scale}:get; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:endpoint-controller", .bound_to = "S/endpoint-controller",
      .rules = "{pods services}:r; {endpoints}:create,delete,get,list,update,watch; {endpoints/restricted}:create; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:endpointslice-controller", .bound_to = "S/endpointslice-controller",
      .rules = "{nodes pods services}:r; {services/finalizers}:update; "
               "discovery.k8s.io{endpointslices}:create,delete,get,list,update,watch; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:endpointslicemirroring-controller",
      .bound_to = "S/endpointslicemirroring-controller",
      .rules = "{endpoints services}:r; {services/finalizers}:update; {endpoints/finalizers}:update; "
               "discovery.k8s.io{endpointslices}:create,delete,get,list,update,watch; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:ephemeral-volume-controller", .bound_to = "S/ephemeral-volume-controller",
      .rules = "{pods}:r; {pods/finalizers}:update; {persistentvolumeclaims}:create,get,list,watch; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:expand-controller", .bound_to = "S/expand-controller",
      .rules = "{persistentvolumes}:get,list,patch,update,watch; {persistentvolumeclaims/status}:patch,update; "
               "{persistentvolumeclaims}:r; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:generic-garbage-collector", .bound_to = "S/generic-garbage-collector",
      .rules = "*{*}:delete,get,list,patch,update,watch; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:horizontal-pod-autoscaler", .bound_to = "S/horizontal-pod-autoscaler",
      .rules = "autoscaling{horizontalpodautoscalers}:r; autoscaling{horizontalpodautoscalers/status}:update; "
               "*{*/scale}:get,update; {pods}:list,watch; metrics.k8s.io{pods}:list,watch; "
               "custom.metrics.k8s.io{*}:r; external.metrics.k8s.io{*}:r; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:job-controller", .bound_to = "S/job-controller",
      .rules = "batch{jobs}:get,list,patch,update,watch; batch{jobs/status}:update; batch{jobs/finalizers}:update; "
               "{pods}:create,delete,list,patch,watch; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:legacy-service-account-token-cleaner",
      .bound_to = "S/legacy-service-account-token-cleaner",
      .rules = "{configmaps}[kube-apiserver-legacy-service-account-token-tracking]:get; {secrets}:delete,patch" },
    { .name = "system:controller:namespace-controller", .bound_to = "S/namespace-controller",
      .rules = "{namespaces}:delete,get,list,watch; {namespaces/finalize namespaces/status}:update; "
               "*{*}:delete,deletecollection,get,list,watch" },
    { .name = "system:controller:node-controller", .bound_to = "S/node-controller",
      .rules = "{nodes}:delete,get,list,patch,update,watch; {nodes/status}:patch,update; "
               "{pods/status}:patch,update; {pods}:delete,get,list,watch; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:persistent-volume-binder", .bound_to = "S/persistent-volume-binder",
      .rules = "{persistentvolumes}:create,delete,get,list,update,watch; {persistentvolumes/status}:update; "
               "{persistentvolumeclaims}:get,list,update,watch; {persistentvolumeclaims/status}:update; "
               "{pods}:create,delete,get,list,watch; storage.k8s.io{storageclasses}:r; {nodes}:list,watch; "
               "|events.k8s.io{events}:create,patch,update; {events}:watch" },
    { .name = "system:controller:pod-garbage-collector", .bound_to = "S/pod-garbage-collector",
      .rules = "{pods}:delete,list,watch; {nodes}:r; {pods/status}:patch" },
    { .name = "system:controller:pv-protection-controller", .bound_to = "S/pv-protection-controller",
      .rules = "{persistentvolumes}:get,list,update,watch; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:pvc-protection-controller", .bound_to = "S/pvc-protection-controller",
      .rules = "{persistentvolumeclaims}:get,list,update,watch; {persistentvolumeclaims/status}:update; {pods}:r; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:replicaset-controller", .bound_to = "S/replicaset-controller",
      .rules = "apps|extensions{replicasets}:get,list,update,watch; apps|extensions{replicasets/status}:update; "
               "apps|extensions{replicasets/finalizers}:update; {pods}:create,delete,list,patch,watch; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:replication-controller", .bound_to = "S/replication-controller",
      .rules = "{replicationcontrollers}:get,list,update,watch; {replicationcontrollers/status}:update; "
               "{replicationcontrollers/finalizers}:update; {pods}:create,delete,list,patch,watch; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:resource-claim-controller", .bound_to = "S/resource-claim-controller",
      .rules = "{pods}:r; {pods/finalizers}:update; resource.k8s.io{resourceclaims}:create,delete,get,list,watch; "
               "resource.k8s.io{resourceclaims resourceclaims/status}:patch,update; {pods/status}:patch,update; "
               "|events.k8s.io{events}:create,patch,update; resource.k8s.io{resourceclaims/binding}:patch,update" },
    { .name = "system:controller:resourcequota-controller", .bound_to = "S/resourcequota-controller",
      .rules = "*{*}:list,watch; {resourcequotas/status}:update; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:root-ca-cert-publisher", .bound_to = "S/root-ca-cert-publisher",
      .rules = "{configmaps}:create,update; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:route-controller", .bound_to = "S/route-controller",
      .rules = "{nodes}:list,watch; {nodes/status}:patch; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:selinux-warning-controller", .bound_to = "S/selinux-warning-controller",
      .rules = "|events.k8s.io{events}:create,patch,update; {persistentvolumes}:r; {persistentvolumeclaims}:r; "
               "{pods}:r; storage.k8s.io{csidrivers}:r" },
    { .name = "system:controller:service-account-controller", .bound_to = "S/service-account-controller",
      .rules = "{serviceaccounts}:create; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:service-cidrs-controller", .bound_to = "S/service-cidrs-controller",
      .rules = "networking.k8s.io{servicecidrs}:get,list,patch,update,watch; "
               "networking.k8s.io{servicecidrs/finalizers}:patch,update; "
               "networking.k8s.io{servicecidrs/status}:patch,update; networking.k8s.io{ipaddresses}:r; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:service-controller", .bound_to = "S/service-controller",
      .rules = "{services}:r; {services/status}:patch,update; {nodes}:list,watch; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:statefulset-controller", .bound_to = "S/statefulset-controller",
      .rules = "{pods}:list,watch; apps{statefulsets}:r; apps{statefulsets/status}:update; "
               "apps{statefulsets/finalizers}:update; {pods}:create,delete,get,patch,update; "
               "apps{controllerrevisions}:create,delete,get,list,patch,update,watch; "
               "{persistentvolumeclaims}:create,get,list,watch; {persistentvolumeclaims}:delete,update; "
               "{pods/finalizers}:update; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:ttl-after-finished-controller", .bound_to = "S/ttl-after-finished-controller",
      .rules = "batch{jobs}:delete,get,list,watch; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:ttl-controller", .bound_to = "S/ttl-controller",
      .rules = "{nodes}:list,patch,update,watch; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:validatingadmissionpolicy-status-controller",
      .bound_to = "S/validatingadmissionpolicy-status-controller",
      .rules = "admissionregistration.k8s.io{validatingadmissionpolicies}:r; "
               "admissionregistration.k8s.io{validatingadmissionpolicies/status}:get,patch,update; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:controller:volumeattributesclass-protection-controller",
      .bound_to = "S/volumeattributesclass-protection-controller",
      .rules = "{persistentvolumeclaims}:r; {persistentvolumes}:r; "
               "storage.k8s.io{volumeattributesclasses}:get,list,update,watch; "
               "|events.k8s.io{events}:create,patch,update" },
    { .name = "system:discovery", .bound_to = "Group/system:authenticated",
      .rules = "URL(/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/):get" },
    { .name = "system:heapster",
      .rules = "{events namespaces nodes pods}:r; extensions{deployments}:r" },
    { .name = "system:kube-aggregator",
      .rules = "{endpoints services}:r" },
    { .name = "system:kube-controller-manager", .bound_to = "User/system:kube-controller-manager",
      .rules = "|events.k8s.io{events}:create,patch,update; coordination.k8s.io{leases}:create; "
               "coordination.k8s.io{leases}[kube-controller-manager]:get,update; {secrets serviceaccounts}:create; "
               "{secrets}:delete; {configmaps namespaces secrets serviceaccounts}:get; {secrets"
               " serviceaccounts}:update; authentication.k8s.io{tokenreviews}:create; "
               "authorization.k8s.io{subjectaccessreviews}:create; *{*}:list,watch; "
               "{serviceaccounts/token}:create" },
    { .name = "system:kube-dns", .bound_to = "S/kube-dns",
      .rules = "{endpoints services}:list,watch" },
    { .name = "system:kube-scheduler", .bound_to = "User/system:kube-scheduler",
      .rules = "|events.k8s.io{events}:create,patch,update; coordination.k8s.io{leases}:create; "
               "coordination.k8s.io{leases}[kube-scheduler]:get,list,update,watch; "
               "coordination.k8s.io{leasecandidates}:rw; {nodes}:r; {pods}:delete,get,list,watch; {bindings"
               " pods/binding}:create; {pods/status}:patch,update; {replicationcontrollers services}:r; "
               "apps|extensions{replicasets}:r; apps{statefulsets}:r; policy{poddisruptionbudgets}:r; "
               "{persistentvolumeclaims persistentvolumes}:r; authentication.k8s.io{tokenreviews}:create; "
               "authorization.k8s.io{subjectaccessreviews}:create; storage.k8s.io{csinodes}:r; "
               "storage.k8s.io{volumeattachments}:r; {namespaces}:r; storage.k8s.io{csidrivers}:r; "
               "storage.k8s.io{csistoragecapacities}:r; resource.k8s.io{deviceclasses}:r; "
               "resource.k8s.io{resourceclaims}:get,list,patch,update,watch; "
               "resource.k8s.io{resourceclaims/status}:get,list,patch,update,watch; {pods/finalizers}:update; "
               "resource.k8s.io{resourceslices}:r; resource.k8s.io{resourceclaims}:create,delete; "
               "resource.k8s.io{resourceclaims/binding}:patch,update" },
    { .name = "system:kubelet-api-admin",
      .rules = "{nodes}:r; {nodes}:proxy; {nodes/log nodes/metrics nodes/proxy nodes/stats}:*; {nodes/configz"
               " nodes/healthz nodes/pods}:*" },
    { .name = "system:monitoring", .bound_to = "Group/system:monitoring",
      .rules = "URL(/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*"
               " /statusz):get; {nodes/metrics}:get" },
    { .name = "system:node", .bound_to = "",
      .rules = "authentication.k8s.io{tokenreviews}:create; authorization.k8s.io{localsubjectaccessreviews"
               " subjectaccessreviews}:create; {services}:r; {nodes}:create,get,list,watch; "
               "{nodes/status}:patch,update; {nodes}:patch,update; |events.k8s.io{events}:create,patch,update; "
               "{pods}:r; {pods}:create,delete; {pods/status}:patch,update; {pods/eviction}:create; {configmaps"
               " secrets}:r; {persistentvolumeclaims persistentvolumes}:get; {endpoints}:get; "
               "certificates.k8s.io{certificatesigningrequests}:create,get,list,watch; "
               "coordination.k8s.io{leases}:create,delete,get,patch,update; storage.k8s.io{volumeattachments}:get; "
               "{serviceaccounts/token}:create; {persistentvolumeclaims/status}:get,patch,update; "
               "storage.k8s.io{csidrivers}:r; storage.k8s.io{csinodes}:create,delete,get,patch,update; "
               "node.k8s.io{runtimeclasses}:r; resource.k8s.io{resourceclaims}:get; "
               "resource.k8s.io{resourceslices}:deletecollection; {serviceaccounts}:get" },
    { .name = "system:node-bootstrapper",
      .rules = "certificates.k8s.io{certificatesigningrequests}:create,get,list,watch" },
    { .name = "system:node-problem-detector",
      .rules = "{nodes}:get; {nodes/status}:patch; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:node-proxier", .bound_to = "User/system:kube-proxy",
      .rules = "{endpoints services}:list,watch; {nodes}:r; |events.k8s.io{events}:create,patch,update; "
               "networking.k8s.io{servicecidrs}:list,watch; discovery.k8s.io{endpointslices}:list,watch" },
    { .name = "system:persistent-volume-provisioner",
      .rules = "{persistentvolumes}:create,delete,get,list,watch; {persistentvolumeclaims}:get,list,update,watch; "
               "storage.k8s.io{storageclasses}:r; {events}:watch; |events.k8s.io{events}:create,patch,update" },
    { .name = "system:public-info-viewer", .bound_to = "Group/system:authenticated Group/system:unauthenticated",
      .rules = "URL(/healthz /livez /readyz /version /version/):get" },
    { .name = "system:service-account-issuer-discovery", .bound_to = "Group/system:serviceaccounts",
      .rules = "URL(/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks"
               " /openid/v1/jwks/):get" },
    { .name = "system:volume-scheduler", .bound_to = "User/system:kube-scheduler",
      .rules = "{persistentvolumes}:get,list,patch,update,watch; storage.k8s.io{storageclasses}:r; "
               "{persistentvolumeclaims}:get,list,patch,update,watch" },
    { .name = "view", .label = "aggregate-to-edit",
      .selects = "aggregate-to-view" },
    { .name = "system:controller:bootstrap-signer", .namespace = "kube-public", .bound_to = "S/bootstrap-signer",
      .rules = "{configmaps}:r; {configmaps}[cluster-info]:update; |events.k8s.io{events}:create,patch,update" },
    { .name = "extension-apiserver-authentication-reader", .namespace = "kube-system",
      .bound_to = "User/system:kube-controller-manager User/system:kube-scheduler",
      .binding = "system::extension-apiserver-authentication-reader",
      .rules = "{configmaps}[extension-apiserver-authentication]:r" },
    { .name = "system::leader-locking-kube-controller-manager", .namespace = "kube-system",
      .bound_to = "User/system:kube-controller-manager S/kube-controller-manager S/leader-election-controller",
      .rules = "coordination.k8s.io{leases}:create,get,list,update,watch; "
               "coordination.k8s.io{leasecandidates}:create,get,list,update,watch" },
    { .name = "system::leader-locking-kube-scheduler", .namespace = "kube-system",
      .bound_to = "User/system:kube-scheduler S/kube-scheduler",
      .rules = "coordination.k8s.io{leases}:create,get,list,update,watch; "
               "coordination.k8s.io{leasecandidates}:create,get,list,update,watch" },
    { .name = "system:controller:bootstrap-signer", .namespace = "kube-system", .bound_to = "S/bootstrap-signer",
      .rules = "{secrets}:r" },
    { .name = "system:controller:cloud-provider", .namespace = "kube-system", .bound_to = "S/cloud-provider",
      .rules = "{configmaps}:create,get,list,watch" },
    { .name = "system:controller:token-cleaner", .namespace = "kube-system", .bound_to = "S/token-cleaner",
      .rules = "{secrets}:delete,get,list,watch; |events.k8s.io{events}:create,patch,update" },
    { 0 },
};
